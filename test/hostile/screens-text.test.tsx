import { render } from 'ink-testing-library';
import type { ReactElement } from 'react';
import { expect, test } from 'vitest';
import { Ask } from '../../components/ask.tsx';
import { Choice } from '../../components/choice.tsx';
import { DetailPane } from '../../components/detail-pane.tsx';
import { Empty, Failure } from '../../components/empty.tsx';
import { Line } from '../../components/line.tsx';
import { textEdit } from '../../components/text-edit.ts';
import { TextField } from '../../components/text-field.tsx';
import { UserError } from '../../src/runtime/errors.ts';

const HOSTILE = 'a\x1b[2J\x1b]0;owned\x07b\x9b8m\u202Ec\rd\x7f\x1b[31me';
const error = new UserError('unexpected', HOSTILE, { hint: HOSTILE, details: [`x\n${HOSTILE}`] });
const options = [{ label: HOSTILE, value: 'a' }];

// Ink's own codes for colour and weight; those of HOSTILE must not be among them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: what Ink draws with
const DRAWING = /\x1b\[(?:1|2|7|22|27|36|39)m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const STEERING = /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

test.each<[string, ReactElement]>([
  ['a line', <Line key="1" spans={[{ text: HOSTILE }]} width={70} />],
  ['a list without rows', <Empty key="2" lines={[HOSTILE, `${HOSTILE}2`]} />],
  ['an error', <Failure key="3" error={error} width={70} />],
  [
    'a question',
    <Ask key="4" {...{ question: HOSTILE, lines: [HOSTILE], options, width: 70, height: 20 }} onAnswer={() => {}} />,
  ],
  ['a choice', <Choice key="5" options={options} onSelect={() => {}} />],
  ['a field', <TextField key="6" label={HOSTILE} edit={textEdit(HOSTILE)} width={90} />],
  [
    'a detail',
    <DetailPane key="7" title={[{ text: HOSTILE }]} facts={[{ name: HOSTILE, value: HOSTILE }]} width={70} />,
  ],
])('%s on screen holds no control or bidirectional character of a server', (_, node) => {
  const frame = render(node).lastFrame() ?? '';
  expect(frame).toContain('owned');
  expect(frame.replaceAll(DRAWING, '')).not.toMatch(STEERING);
});

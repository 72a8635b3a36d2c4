import xterm from '@xterm/headless';
import { expect, test } from 'vitest';
import { frameChanges } from '../../../../screens/app/terminal/frame-changes.ts';
import { fc } from '../../../helpers/fast-check.ts';

const COLUMNS = 40;
const ROWS = 3;
/** Attributes with what ends them, as Ink writes them. */
const LOOKS = [
  ['', ''],
  ['\x1b[1m', '\x1b[22m'],
  ['\x1b[2m', '\x1b[22m'],
  ['\x1b[7m', '\x1b[27m'],
  ['\x1b[4m', '\x1b[24m'],
  ['\x1b[31m', '\x1b[39m'],
  ['\x1b[90m', '\x1b[39m'],
  ['\x1b[38;5;80m', '\x1b[39m'],
  ['\x1b[48;5;237m', '\x1b[49m'],
  ['\x1b[38;5;80m\x1b[48;5;237m\x1b[1m', '\x1b[22m\x1b[49m\x1b[39m'],
] as const;

const text = fc.oneof(
  fc.constantFrom('a', 'b', 'ab', 'a a', 'é', '│', '漢', '漢a', '字', ' ', '   ', ' '.repeat(9)),
  fc.string({ minLength: 1, maxLength: 4 }),
);
const span = fc.tuple(fc.constantFrom(...LOOKS), text).map(([[begin, end], inside]) => `${begin}${inside}${end}`);
const line = fc.array(span, { maxLength: 4 }).map((spans) => spans.join(''));
const frame = fc.array(line, { minLength: ROWS, maxLength: ROWS });

test('changes of a frame draw what the whole frame draws', async () => {
  await fc.assert(
    fc.asyncProperty(frame, frame, async (before, after) => {
      const changed = await drawn(frameChanges([], before) + frameChanges(before, after));
      expect(changed).toEqual(await drawn(after.join('\r\n')));
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['an equal line is not written', ['│ one'], ['│ one'], '\x1b[1H'],
  ['one cell of a line is written', ['│ 1 │ a │'], ['│ 2 │ a │'], '\x1b[1;3H2\x1b[1H'],
  ['a short gap is written', ['1 - 1'], ['2 - 2'], '\x1b[1;1H2 - 2\x1b[1H'],
  ['a long gap is skipped', ['1 ------ 1'], ['2 ------ 2'], '\x1b[1;1H2\x1b[10G2\x1b[1H'],
  ['many blanks are erased', ['a long text │'], ['            │'], '\x1b[1;1H\x1b[12X\x1b[1H'],
  [
    'blanks with a background are written',
    [''],
    [`\x1b[7m${' '.repeat(9)}\x1b[27m`],
    `\x1b[1;1H\x1b[;7m${' '.repeat(9)}\x1b[m\x1b[1H`,
  ],
  ['the column is set again after a wide character', ['ab│'], ['漢!'], '\x1b[1;1H漢\x1b[3G!\x1b[1H'],
])('%s', (...[, before, after, written]) => {
  expect(frameChanges(before, after)).toBe(written);
});

async function drawn(written: string): Promise<string[][]> {
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(written, resolve));
  return Array.from({ length: ROWS }, (_, row) =>
    Array.from({ length: COLUMNS }, (_, column) => {
      const cell = terminal.buffer.active.getLine(row)?.getCell(column);
      const isPainted = !cell?.isBgDefault() || cell.isInverse() || cell.isUnderline();
      const isBlank = !isPainted && (cell?.getChars() ?? '').trim() === '';
      if (!cell || isBlank) return '';
      const looks = [cell.isBold(), cell.isDim(), cell.isInverse(), cell.isUnderline()].map(Boolean);
      const colors = [cell.getFgColorMode(), cell.getFgColor(), cell.getBgColorMode(), cell.getBgColor()];
      return JSON.stringify([cell.getChars(), looks, colors]);
    }),
  );
}

import { render } from 'ink-testing-library';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Choice } from '../../components/choice.tsx';
import { DetailPane } from '../../components/detail-pane.tsx';
import { Facts } from '../../components/facts.tsx';
import { KeyBar } from '../../components/key-bar.tsx';
import { Line } from '../../components/line.tsx';
import { List, scrolledTo } from '../../components/list.tsx';
import { progressBar } from '../../components/progress-bar.ts';
import { StatusBar } from '../../components/status-bar.tsx';
import { textEdit } from '../../components/text-edit.ts';
import { TextField } from '../../components/text-field.tsx';
import { createTheme } from '../../components/theme.ts';
import { type Rendered, renderAt } from '../helpers/terminal/render.tsx';

const open: Rendered[] = [];
afterEach(() => {
  for (const rendered of open.splice(0)) rendered.unmount();
});

test('details with more lines than rows end with a mark', () => {
  const facts = ['a', 'b', 'c'].map((name) => ({ name, value: name }));
  const pane = (height: number) => <DetailPane title={[]} facts={facts} width={20} height={height} />;
  expect(render(pane(4)).lastFrame()).toMatch(/c +c$/);
  expect(render(pane(3)).lastFrame()).toMatch(/b +b …$/);
});

describe('a line', () => {
  test('is cut by cells', async () => {
    expect(await drawn(10, <Line spans={[{ text: '漢字漢' }, { text: 'データ' }, { text: 'x' }]} width={9} />)).toBe(
      '漢字漢デ…',
    );
  });

  test('removes every escape sequence', async () => {
    expect(await drawn(20, <Line spans={[{ text: 'a\x1b[2Jb' }]} width={20} />)).toBe('a [2Jb');
  });
});

describe('a list', () => {
  const items = Array.from({ length: 10_000 }, (_, index) => `item-${index}`);

  test('formats only the rows in view', async () => {
    const row = vi.fn((item: string) => [{ text: item }]);
    const rendered = renderAt(
      { columns: 20, rows: 6 },
      <List items={items} keyOf={(item) => item} row={row} selected={5000} width={20} height={5} />,
    );
    open.push(rendered);
    expect(await rendered.screen()).toEqual([
      '  item-4996',
      '  item-4997',
      '  item-4998',
      '  item-4999',
      '❯ item-5000',
      '',
    ]);
    expect(row.mock.calls.length).toBeLessThan(20);
  });

  test.each([
    [{ offset: 0, selected: 4, height: 5, count: 9 }, 0],
    [{ offset: 0, selected: 5, height: 5, count: 9 }, 1],
    [{ offset: 4, selected: 3, height: 5, count: 9 }, 3],
    [{ offset: 4, selected: 6, height: 8, count: 9 }, 1],
    [{ offset: 4, selected: -1, height: 5, count: 0 }, 0],
    [{ offset: 3, selected: 3, lead: 1, height: 5, count: 9 }, 2],
    [{ offset: 0, selected: 3, lead: 1, height: 1, count: 9 }, 3],
  ])('scrolls no further than it must: %o', (scroll, offset) => {
    expect(scrolledTo(scroll)).toBe(offset);
  });
});

describe('the key bar', () => {
  const hints = [
    { keys: 'b', label: 'build' },
    { keys: 'r', label: 'refresh' },
    { keys: '?', label: 'help', stays: true },
    { keys: 'q', label: 'quit', stays: true },
  ];

  test('shows every key where there is room', () => {
    expect(render(<KeyBar hints={hints} width={80} />).lastFrame()).toBe(' b build   r refresh   ? help   q quit');
  });

  test('keeps the help at any width', () => {
    expect(render(<KeyBar hints={hints} width={30} />).lastFrame()).toBe(' b build   ? help   q quit');
  });

  test('prefers keys that are available', () => {
    const unbuildable = hints.map((hint) => (hint.keys === 'b' ? { ...hint, disabled: true } : hint));
    expect(render(<KeyBar hints={unbuildable} width={32} />).lastFrame()).toBe(' r refresh   ? help   q quit');
  });
});

describe('the status bar', () => {
  const facts = [
    { text: 'READ-ONLY', dropRank: 0 },
    { text: './tool.yml', dropRank: 1 },
    { text: 'local', dropRank: 2 },
    { text: 'v1.2.3', dropRank: 3 },
  ];
  const bar = (width: number, left = 'Saved') =>
    render(<StatusBar left={[{ text: left }]} facts={facts} width={width} />).lastFrame();

  test.each([
    [60, ' Saved              READ-ONLY · ./tool.yml · local · v1.2.3'],
    [40, ' Saved   READ-ONLY · ./tool.yml · local'],
    [33, ' Saved    READ-ONLY · ./tool.yml'],
    [20, ' Saved    READ-ONLY'],
    [13, '   READ-ONLY'],
  ])('shows the facts that fit into %i cells, and read-only always', (width, line) => {
    expect(bar(width)).toBe(line);
  });

  test('cuts what happens before read-only', () => {
    expect(bar(40, 'Copied postgres://app@localhost:5432/application')).toMatch(
      /^ Copied postgres:\/\/.*… {2}READ-ONLY$/,
    );
  });
});

test('a choice has the focus on its first answer, and Enter takes it', async () => {
  const answers: string[] = [];
  const options = [
    { label: 'Leave it', value: 'leave' },
    { label: 'Replace it', value: 'go' },
  ];
  const { lastFrame, stdin } = render(<Choice options={options} onSelect={(answer) => answers.push(answer)} />);
  await vi.waitFor(() => expect(lastFrame()).toContain('❯ Leave it'));
  stdin.write('\r');
  await vi.waitFor(() => expect(answers).toEqual(['leave']));
  stdin.write('\x1b[B');
  await vi.waitFor(() => expect(lastFrame()).toContain('❯ Replace it'));
  stdin.write('\r');
  await vi.waitFor(() => expect(answers).toEqual(['leave', 'go']));
});

test('a field shows the part of a long text that is around the cursor', () => {
  const edit = { ...textEdit('a'.repeat(30) + 'b'.repeat(30)), cursor: 30 };
  const { lastFrame } = render(<TextField label="Note:" edit={edit} width={20} />);
  expect(lastFrame()).toMatch(/^Note: a+b$/);
  expect(lastFrame()?.length).toBeLessThanOrEqual(20);
});

test('facts go on below their own beginning', () => {
  const facts = [
    { name: 'Name', value: 'app' },
    { name: 'Source', value: 'one two three four five' },
  ];
  expect(render(<Facts facts={facts} width={22} />).lastFrame()).toBe(
    ['Name    app', 'Source  one two three', '        four five'].join('\n'),
  );
});

test('a bar is full when the share is, and not before', () => {
  const { glyphs } = createTheme({ unicode: false });
  const text = (share: number) =>
    progressBar({ share, width: 4, glyphs })
      .map((span) => span.text)
      .join('');
  expect([text(0), text(0.5), text(0.99), text(1), text(7)]).toEqual(['....', '##..', '###.', '####', '####']);
});

async function drawn(columns: number, node: React.ReactNode): Promise<string | undefined> {
  const rendered = renderAt({ columns, rows: 2 }, node);
  open.push(rendered);
  return (await rendered.screen())[0];
}

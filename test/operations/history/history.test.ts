import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { appendHistory, readHistory } from '../../../src/operations/history/history-file.ts';
import { listHistory } from '../../../src/operations/history/list-history.ts';
import { estimateLoad } from '../../../src/operations/history/load-estimate.ts';
import { recorded } from '../../../src/operations/history/recorded.ts';
import { historyColumns, historyFacts } from '../../../src/operations/history/text.ts';
import { ASCII } from '../../../src/presentation/shapes/glyphs.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { HistoryEntry } from '../../../src/results/history-results.ts';
import type { LoadPlan } from '../../../src/results/load-results.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { eventually, temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const SOURCE = new URL('../../../src/operations/history/history-file.ts', import.meta.url).pathname;

const loaded: HistoryEntry = {
  ...{ at: '2026-01-31T14:00:00.000Z', operation: 'load', target: 'app', outcome: 'done', error: null },
  ...{ duration_ms: 1500, snapshot: '8c41f2ab', sanitized: true, from: null, to: 'postgres://localhost/app_dev' },
  ...{ branches: [], method: 'full', size_bytes: 1000, swap_ms: 46 },
};

function contextOf(directory: string, { events = [] as RunEvent[], signal = new AbortController().signal } = {}) {
  return testContext({ settings: { working_directory: directory }, events, signal });
}

function sleeping(directory: string, script: string, name: string): [string, string[]] {
  const imports = `import { appendHistory } from ${JSON.stringify(SOURCE)};
    const context = { configuration: { settings: { working_directory: ${JSON.stringify(directory)}, targets: {} } } };
    const entry = { ...${JSON.stringify(loaded)}, target: process.argv[1] };`;
  return [process.execPath, ['--input-type=module', '--eval', `${imports}${script}`, '--', name]];
}

test('entries are listed newest first, and those of one target alone', async () => {
  await using folder = await temporaryFolder();
  const context = contextOf(folder.path);
  await appendHistory(context, { ...loaded, at: '2026-02-01T00:00:00.000Z', target: 'shop' });
  await appendHistory(context, loaded);
  expect(listHistory(context).entries.map(({ target }) => target)).toEqual(['shop', 'app']);
  expect(listHistory(context, { target: 'app' })).toEqual({ entries: [loaded], damaged_lines: 0 });
  expect(() => listHistory(context, { target: 'other' })).toThrow(expect.objectContaining({ code: 'target_unknown' }));
});

test('the history is for its owner alone', async () => {
  await using folder = await temporaryFolder();
  await appendHistory(contextOf(folder.path), loaded);
  expect((await stat(join(folder.path, 'history.jsonl'))).mode & 0o777).toBe(0o600);
});

test('the history is bounded: of a full file and the one before it nothing is lost, older entries go', async () => {
  await using folder = await temporaryFolder();
  const context = contextOf(folder.path);
  for (let index = 0; index < 40; index += 1) {
    await appendHistory(context, { ...loaded, duration_ms: index }, { maxBytes: 3000 });
  }
  const files = (await readdir(folder.path)).filter((name) => name.startsWith('history'));
  expect(files.sort()).toEqual(['history.jsonl', 'history.jsonl.1']);
  const kept = readHistory(context).entries.map(({ duration_ms }) => duration_ms);
  expect(kept.length).toBeLessThan(40);
  expect(kept).toEqual(kept.map((_, index) => 39 - index));
});

test('eight processes that write at the same time lose no entry and damage no line', async () => {
  await using folder = await temporaryFolder();
  const script = `
    for (let index = 0; index < 50; index += 1) await appendHistory(context, { ...entry, duration_ms: index });`;
  const names = Array.from({ length: 8 }, (_, index) => `target-${index}`);
  await Promise.all(names.map((name) => promisify(execFile)(...sleeping(folder.path, script, name))));
  const { entries, damaged_lines } = readHistory(contextOf(folder.path));
  expect(damaged_lines).toBe(0);
  const found = entries.map(({ target, duration_ms }) => `${target} ${duration_ms}`).sort();
  expect(found).toEqual(names.flatMap((name) => Array.from({ length: 50 }, (_, index) => `${name} ${index}`)).sort());
});

test('a process that is killed while it writes damages at most its own line', async () => {
  await using folder = await temporaryFolder();
  const context = contextOf(folder.path);
  const file = join(folder.path, 'history.jsonl');
  const writer = spawn(...sleeping(folder.path, 'for (;;) await appendHistory(context, entry);', 'killed'));
  const ended = once(writer, 'exit');
  await eventually(async () => (await stat(file).catch(() => ({ size: 0 }))).size > 10_000);
  writer.kill('SIGKILL');
  await ended;
  const before = readHistory(context);
  expect(before.damaged_lines).toBeLessThanOrEqual(1);
  // A disk that is full, or a power failure, leaves half a line.
  await appendFile(file, JSON.stringify(loaded).slice(0, 40));
  await appendHistory(context, { ...loaded, target: 'later' });
  const after = readHistory(context);
  expect(after.damaged_lines).toBe(before.damaged_lines + 1);
  expect(after.entries).toHaveLength(before.entries.length + 1);
  expect(after.entries.some(({ target }) => target === 'later')).toBe(true);
});

test.each([
  ['not JSON', '}{'],
  ['null', 'null'],
  ['a list', '[]'],
  ['an unknown operation', JSON.stringify({ ...loaded, operation: 'drop' })],
  ['a time that is none', JSON.stringify({ ...loaded, at: 'yesterday' })],
  ['a negative duration', JSON.stringify({ ...loaded, duration_ms: -1 })],
  ['a very long text', JSON.stringify({ ...loaded, target: 'x'.repeat(100_000) })],
  ['many branches', JSON.stringify({ ...loaded, branches: Array(10_000).fill('b') })],
  ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0x1b])],
  ['deep nesting', '['.repeat(100_000)],
  ['a key of every object', '{"__proto__": {"at": 1}}'],
])('a line with %s is skipped and counted', async (_, line) => {
  await using folder = await temporaryFolder();
  const context = contextOf(folder.path);
  await appendHistory(context, loaded);
  await appendFile(join(folder.path, 'history.jsonl'), line);
  await appendHistory(context, loaded);
  expect(readHistory(context)).toEqual({ entries: [loaded, loaded], damaged_lines: 1 });
});

test('a file that was made too long is read from its end', async () => {
  await using folder = await temporaryFolder();
  const context = contextOf(folder.path);
  await writeFile(join(folder.path, 'history.jsonl.1'), `${'x'.repeat(8 * 1024 * 1024)}\n${JSON.stringify(loaded)}\n`);
  expect(readHistory(context)).toEqual({ entries: [loaded], damaged_lines: 0 });
});

test('control characters of an entry never reach the terminal', () => {
  const hostile = { ...loaded, target: 'a\x1b[2J', to: 'b\u202Ec\x07', snapshot: 'c\r\nd' };
  const cells = historyColumns({ glyphs: ASCII }).map(({ cell }) => cell(hostile).text);
  const { title, facts } = historyFacts(hostile);
  const shown = [...cells, title, ...facts.map(({ value }) => value)].join('');
  expect(shown).not.toMatch(/[\p{Cc}\u202E]/u);
});

test('an operation is kept with its outcome; of an error the code alone, since its message may quote data', async () => {
  await using folder = await temporaryFolder();
  const controller = new AbortController();
  const context = {
    ...contextOf(folder.path, { signal: controller.signal }),
    hide: (text: string) => text.replace('s3cret', '***'),
  };
  const known = { operation: 'load' as const, target: 'app', to: 'postgres://s3cret@h/d' };
  await recorded(context, known, { work: async () => 7, facts: (swap_ms) => ({ swap_ms }) });
  const failure = new UserError('restore_failed', 'name "s3cret" is not valid');
  await expect(recorded(context, known, { work: () => Promise.reject(failure) })).rejects.toBe(failure);
  controller.abort(failure);
  await expect(recorded(context, known, { work: () => Promise.reject(failure) })).rejects.toBe(failure);
  const { entries } = readHistory(context);
  const seen = entries.map(({ outcome, error, swap_ms }) => ({ outcome, error, swap_ms }));
  expect(seen).toHaveLength(3);
  expect(seen).toContainEqual({ outcome: 'done', error: null, swap_ms: 7 });
  expect(seen).toContainEqual({ outcome: 'failed', error: 'restore_failed', swap_ms: null });
  expect(seen).toContainEqual({ outcome: 'cancelled', error: 'restore_failed', swap_ms: null });
  expect(await readFile(join(folder.path, 'history.jsonl'), 'utf8')).not.toContain('s3cret');
});

test('a history that cannot be written is a warning, and the operation continues', async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'tool-storage.txt'), '');
  await mkdir(join(folder.path, 'history.jsonl'));
  const events: RunEvent[] = [];
  await expect(
    recorded(contextOf(folder.path, { events }), { operation: 'build', target: 'app' }, { work: async () => 'built' }),
  ).resolves.toBe('built');
  expect(events).toMatchObject([{ event: 'warning', code: 'history_not_written' }]);
  const unreadable = expect.objectContaining({
    code: 'history_unreadable',
    hint: expect.stringContaining(folder.path),
  });
  expect(() => listHistory(contextOf(folder.path))).toThrow(unreadable);
});

test('a folder with foreign files gets no history', async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'notes.txt'), '');
  await recorded(contextOf(folder.path), { operation: 'build', target: 'app' }, { work: async () => {} });
  expect(await readdir(folder.path)).toEqual(['notes.txt']);
});

test('a load takes as long as the median of earlier loads of its kind, in proportion where sizes differ', async () => {
  await using folder = await temporaryFolder();
  const context = contextOf(folder.path);
  const plan = {
    ...{ strategy: 'swap', selection: null, file: null, size_bytes: 1100 },
    destination: { url: loaded.to },
  } as LoadPlan;
  expect(estimateLoad(context, plan)).toBeNull();
  for (const duration_ms of [1000, 9000, 2000]) await appendHistory(context, { ...loaded, duration_ms });
  await appendHistory(context, { ...loaded, duration_ms: 1, outcome: 'failed' });
  await appendHistory(context, { ...loaded, duration_ms: 1, to: 'postgres://localhost/other' });
  await appendHistory(context, { ...loaded, duration_ms: 1, method: 'difference' });
  expect(estimateLoad(context, plan)).toEqual({ duration_ms: 2000, loads: 3 });
  // Small loads take the same time, whatever their sizes: a second for 25 bytes is no hour for 100 MB.
  expect(estimateLoad(context, { ...plan, size_bytes: 10_000 })).toEqual({ duration_ms: 2000, loads: 3 });
  expect(estimateLoad(context, { ...plan, size_bytes: 160_000_000 })).toEqual({ duration_ms: 20_000, loads: 3 });
  expect(estimateLoad(context, { ...plan, strategy: 'script', file: '/x.sql' })).toBeNull();
});

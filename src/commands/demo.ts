import type { CommandModule, CommandSpec, Invocation, Outcome } from '../cli/command.ts';
import type { Tour } from '../operations/demo.ts';
import { formatBytes as bytes, formatCount as count } from '../text/format.ts';

const specification = {
  name: 'demo',
  summary: 'try everything on a throw-away database with sample data',
  group: 'Set up',
  arguments: [],
  options: [],
  examples: [{ command: 'tool demo', does: 'starts a database of its own and opens the screens on it' }],
  json: 'events',
} as const satisfies CommandSpec;

export const demoCommand: CommandModule = { ...specification, run };

async function run(invocation: Invocation): Promise<Outcome> {
  const { startDemo, tourDemo } = await import('../operations/demo.ts');
  const { screens, report, signal, environment } = invocation;
  const options = { report, signal, environment, clock: () => new Date() };
  await using demo = await startDemo(options);
  if (screens) {
    const exit = await screens({ config: demo.config, environment: demo.environment });
    return { data: {}, text: 'The demo is over: its server, its databases and its files are removed.', exit };
  }
  const tour = await tourDemo(demo, options);
  return { data: tour, text: tourText(demo.source, tour) };
}

function tourText(
  source: string,
  { built, again, verified, loaded, reloaded, undone, sanitized, subset }: Tour,
): string {
  return [
    `Built snapshot ${built.id} of ${source}: ${count(built.tables)} tables, ${count(built.rows)} rows, ${bytes(built.size_bytes)} in ${bytes(built.stored_bytes)}`,
    `Built it again: unchanged tables are stored once, so ${again.id} added ${bytes(again.stored_bytes)}`,
    `Verified every byte of it: ${count(verified.files)} files, ${bytes(verified.bytes)}`,
    `Loaded it into ${loaded.destination}: ${count(loaded.rows)} rows, checked, and named in ${loaded.swap_ms} ms`,
    `Loaded it again: the database was away for ${reloaded.swap_ms} ms, and what it replaced was kept`,
    `Undone: ${undone.destination} is what it was before`,
    `Sanitized it by ${sanitized.statements} statements: ${count(changedTables(sanitized))} of ${count(sanitized.coverage.tables.length)} tables changed, nothing that looks personal is left`,
    `Made a subset in ${subset.destination}: 1 % of the customers and all that belongs to them, ${count(subset.rows)} rows, ${count(subset.proof.length)} references proved`,
    'Nothing of the demo remains. See it on a terminal: tool demo',
  ].join('\n');
}

function changedTables({ coverage }: Tour['sanitized']): number {
  return coverage.tables.filter(({ state }) => state !== 'untouched').length;
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { printable } from '../../src/printable.ts';
import type { LogLine } from '../../src/state/run.ts';
import { contextOf, type Model, notifyFailure } from '../app/model.ts';

/** Writes the log of the run to a file. */
export function saveLog(model: Model): void {
  const { run } = contextOf(model);
  if (!run) return;
  const began = new Date(run.state.startedAt).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const file = join(model.cwd, `tool-${run.kind}-${encodeURIComponent(run.target)}-${began}.log`);
  try {
    writeFileSync(file, run.state.log.map(lineOf).join(''), { mode: 0o600 });
    model.navigation.notify({ tone: 'good', text: `Written: ${file}` });
  } catch (thrown) {
    notifyFailure(model, thrown);
  }
}

function lineOf({ at, kind, text, tookMs }: LogLine): string {
  const took = tookMs === undefined ? '' : ` (${tookMs} ms)`;
  return `${new Date(at).toISOString()} ${kind.padEnd(7)} ${printable(text)}${took}\n`;
}

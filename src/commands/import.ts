import { resolve } from 'node:path';
import { formatNumberOf } from '../amounts.ts';
import type { Invocation, Outcome } from '../cli/command.ts';
import { importSnapshot } from '../operations/snapshots/import.ts';

interface Arguments {
  file: string;
}

interface Options {
  target?: string;
  allowUntrusted?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { target, allowUntrusted = false } = invocation.options;
  const file = resolve(invocation.cwd, invocation.arguments.file);
  const request = { file, allowUntrusted, ...(target !== undefined && { target }) };
  const result = await importSnapshot(await invocation.context(), request);
  const contents = [formatNumberOf(result.tables, 'table'), formatNumberOf(result.rows, 'row')].join(', ');
  return { data: result, text: `Imported snapshot ${result.id} of ${result.target}: ${contents}` };
}

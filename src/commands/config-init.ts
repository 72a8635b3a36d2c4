import { initConfiguration } from '../config/init.ts';
import type { Invocation, Outcome } from './command.ts';

interface Options {
  force?: boolean;
}

export async function run({ options, globals, environment, cwd }: Invocation<object, Options>): Promise<Outcome> {
  const { force = false } = options;
  const result = await initConfiguration({ file: globals.config, force, environment, cwd });
  const lines = [
    `Wrote ${result.file}`,
    ...(result.replaced ? [`The old one is kept as ${result.replaced}`] : []),
    ...(result.shadowed_by
      ? [`In this folder it is not read, since ${result.shadowed_by} is: remove that, or pass --config ${result.file}`]
      : []),
    `Snapshots will be kept in ${result.working_directory}`,
    'Next: add a target to it, then tool config check',
  ];
  return { data: result, text: lines.join('\n') };
}

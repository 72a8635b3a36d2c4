import { basename } from 'node:path';
import type { Command, Runner } from '../../../src/process/runner.ts';

/** How a program ends by SIGKILL: before it has done anything, when it has read its input, or when it has done all. */
export const DEATHS = {
  'at its start': 'kill -9 $$',
  'after its input': 'cat >/dev/null; kill -9 $$',
  'after its work': '"$@"; kill -9 $$',
} as const;
export type Death = keyof typeof DEATHS;

export interface KillingRunner extends Runner {
  /** The programs that were started, as far as they are counted. */
  started: string[];
}

/** Whether a program does a piece of work; sessions are started by their number, which depends on the cores. */
function isCounted({ file, args }: Command): boolean {
  const works = args.some((arg) => /^--(?:file|command|output)=/.test(arg));
  return basename(file) === 'psql' ? works : ['pg_dump', 'pg_restore'].includes(basename(file)) && args.length > 1;
}

/** Runs everything, but kills the program of this number (from 0). */
export function killingRunner(runner: Runner, victim: number, death: Death): KillingRunner {
  const started: string[] = [];
  const replace = (command: Command): Command => {
    if (!isCounted(command)) return command;
    started.push(
      [basename(command.file), ...command.args.filter((arg) => /^--(section|list|command=COPY)/.test(arg))].join(' '),
    );
    if (started.length - 1 !== victim) return command;
    return { ...command, file: '/bin/sh', args: ['-c', DEATHS[death], 'sh', command.file, ...command.args] };
  };
  return {
    ...runner,
    started,
    run: (command, options) => runner.run(replace(command), options),
    start: (command, options) => runner.start(replace(command), options),
  };
}

import { COMPLETION_SCRIPTS } from '../cli/completion-scripts.ts';
import type { Invocation, Outcome } from './command.ts';

interface Arguments {
  shell: string;
}

export async function run({ arguments: { shell } }: Invocation<Arguments>): Promise<Outcome> {
  const script = COMPLETION_SCRIPTS[shell] ?? '';
  return { data: { shell, script }, text: script };
}

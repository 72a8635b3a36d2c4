import type { Invocation, Outcome } from '../cli/command.ts';
import { COMPLETION_SCRIPTS } from '../cli/completion-scripts.ts';

interface Arguments {
  shell: string;
}

export async function run({ arguments: { shell } }: Invocation<Arguments>): Promise<Outcome> {
  const script = COMPLETION_SCRIPTS[shell] ?? '';
  return { data: { shell, script }, text: script };
}

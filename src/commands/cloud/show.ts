import type { CommandModule, CommandSpec, Invocation, Outcome } from '../../cli/command.ts';

const specification = {
  name: 'cloud show',
  summary: 'print storage profiles and targets of the hub, without secrets',
  group: 'Hub',
  arguments: [],
  options: [],
  examples: [{ command: 'tool cloud show', does: 'print a file for tool cloud apply' }],
  json: 'document',
} as const satisfies CommandSpec;

export const cloudShowCommand: CommandModule = { ...specification, run };

async function run(invocation: Invocation): Promise<Outcome> {
  const { hubContentText } = await import('../../presentation/cloud.ts');
  const { showHub } = await import('../../operations/cloud/show.ts');
  const content = await showHub(await invocation.context());
  return { data: content, text: hubContentText(content), quotes: true };
}

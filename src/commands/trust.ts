import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';

const specification = {
  name: 'trust',
  summary: 'trust ./tool.yml: show what the file may do, and ask',
  group: 'Set up',
  arguments: [],
  options: [
    {
      flags: '--former-source <url>',
      description: 'instead: this database is no source any more, and may be replaced',
    },
    {
      flags: '--clear-storage <profile>',
      description: 'instead: snapshots of this storage profile may be stored without encryption from now on',
    },
  ],
  examples: [
    { command: 'tool trust', does: 'the effects of the file, or what is new since the last answer, and a question' },
    { command: 'tool trust --trust', does: 'the same without the question, for scripts' },
    {
      command: 'tool trust --former-source postgres://db.example.com/shop',
      does: 'loads may replace this database again, which was the source of a target',
    },
  ],
  json: 'document',
} as const satisfies CommandSpec;

export const trustCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { formerSource, clearStorage } = invocation.options;
  if (formerSource !== undefined) {
    const { forgetSource } = await import('../operations/identities.ts');
    const forgotten = await forgetSource(await invocation.context(), formerSource);
    const { formerSourceText } = await import('../presentation/trust.ts');
    return { data: forgotten, text: formerSourceText(forgotten) };
  }
  if (clearStorage !== undefined) {
    const { allowClearStorage } = await import('../operations/snapshots/encrypted-storage.ts');
    const allowed = await allowClearStorage(await invocation.context(), clearStorage);
    const { clearStorageText } = await import('../presentation/trust.ts');
    return { data: allowed, text: clearStorageText(allowed) };
  }
  const { readTrustedFile } = await import('../operations/trust.ts');
  const { trustedText } = await import('../presentation/trust.ts');
  const trusted = await readTrustedFile(invocation);
  return { data: trusted, text: trustedText(trusted), quotes: true };
}

import { defineCommand } from '../cli/command.ts';

export const trustCommand = defineCommand({
  name: 'trust',
  summary: 'show the effects of ./tool.yml, and ask whether to trust it',
  group: 'Set up',
  options: [
    {
      flags: '--former-source <url>',
      description: 'permit loads to replace this former source, without trusting ./tool.yml',
    },
    {
      flags: '--unverified-sources <target>',
      description: 'declare that unidentified sources of this target are other databases than the destinations',
    },
    {
      flags: '--clear-storage <profile>',
      description: 'permit unencrypted pushes to this storage profile',
    },
  ],
  examples: [
    { command: 'tool trust', does: 'show the effects, or the changed ones, and ask' },
    { command: 'tool trust --trust', does: 'trust without a question, in a script' },
    {
      command: 'tool trust --former-source postgres://db.example.com/shop',
      does: 'permit loads to replace this database',
    },
  ],
  json: 'document',
  async run(invocation) {
    const { formerSource, unverifiedSources, clearStorage } = invocation.options;
    const text = await import('../operations/trust/trust-text.ts');
    if (formerSource !== undefined) {
      const { forgetSource } = await import('../operations/identities.ts');
      const forgotten = await forgetSource(await invocation.context(), formerSource);
      return { data: forgotten, text: text.formerSourceText(forgotten) };
    }
    if (unverifiedSources !== undefined) {
      const { declareSources } = await import('../operations/load/guard/declared-sources.ts');
      const declared = await declareSources(await invocation.context(), unverifiedSources);
      return { data: declared, text: text.declaredSourcesText(declared) };
    }
    if (clearStorage !== undefined) {
      const { allowClearStorage } = await import('../operations/snapshots/transfer/encrypted-storage.ts');
      const allowed = await allowClearStorage(await invocation.context(), clearStorage);
      return { data: allowed, text: text.clearStorageText(allowed) };
    }
    const { readTrustedFile } = await import('../operations/trust/trust.ts');
    const trusted = await readTrustedFile(invocation);
    return { data: trusted, text: text.trustedText(trusted), quotes: true };
  },
});

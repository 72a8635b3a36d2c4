import { defineCommand } from '../../cli/command.ts';

export const configInitCommand = defineCommand({
  name: 'config init',
  summary: 'write a first configuration, with questions in a terminal',
  group: 'Set up',
  options: [
    { flags: '--force', description: 'overwrite an existing file' },
    { flags: '--keychain', description: "keep the secret_key in the system's keychain" },
  ],
  examples: [{ command: 'tool config init --no-tui', does: 'write the file without questions' }],
  json: 'document',
  async run({ options, globals, environment, cwd, report, screens }) {
    const { initializedText, keychainFailed, wouldBeCommittedText } = await import(
      '../../operations/configuration/text.ts'
    );
    const { absolutePath } = await import('../../config/paths.ts');
    const { initConfiguration, assertNoConfiguration } = await import('../../config/init/init.ts');
    const { wouldBeCommitted } = await import('../../operations/configuration/git-ignore.ts');
    const { force = false, keychain = false } = options;
    // Options outside the wizard use the plain way.
    if (screens && !globals.readOnly && !force && !keychain) {
      if (globals.config !== undefined)
        await assertNoConfiguration(absolutePath(globals.config, { from: cwd, environment }));
      return { data: {}, text: '', exit: await screens({ setUp: true }) };
    }
    const result = await initConfiguration({ file: globals.config, force, keychain, environment, cwd });
    if (result.keychain_error !== null) {
      const message = keychainFailed(result.keychain_error);
      report({ event: 'warning', code: 'keychain_unavailable', message });
    }
    if (result.secret_key_in === 'file' && (await wouldBeCommitted(environment, result.file))) {
      const message = wouldBeCommittedText(result.file);
      report({ event: 'warning', code: 'configuration_not_ignored', message });
    }
    return { data: result, text: initializedText(result) };
  },
});

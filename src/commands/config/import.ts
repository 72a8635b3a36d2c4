import { defineCommand } from '../../cli/command.ts';
import { EXIT } from '../../runtime/errors.ts';

export const configImportCommand = defineCommand({
  name: 'config import',
  summary: 'convert a configuration of DBSnapper',
  group: 'Set up',
  arguments: [{ name: 'file', description: 'configuration of DBSnapper, which is not changed', required: true }],
  options: [{ flags: '--force', description: 'overwrite an existing file' }],
  examples: [
    {
      command: 'tool config import ~/.config/dbsnapper/dbsnapper.yml',
      does: 'convert the file, and list omitted keys',
    },
  ],
  json: 'document',
  async run({ arguments: { file }, options, globals, environment, cwd }) {
    const { importedConfigurationText } = await import('../../operations/configuration/text.ts');
    const { importConfiguration } = await import('../../operations/configuration/import.ts');
    const { force = false } = options;
    const report = await importConfiguration({ from: file, file: globals.config, force, environment, cwd });
    const isValid = report.problems.every(({ severity }) => severity !== 'error');
    return { data: report, text: importedConfigurationText(report), exit: isValid ? EXIT.done : EXIT.configuration };
  },
});

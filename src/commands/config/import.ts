import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { EXIT } from '../../runtime/errors.ts';

const specification = {
  name: 'config import',
  summary: 'write a configuration of DBSnapper as one of this program',
  group: 'Set up',
  arguments: [{ name: 'file', description: 'the configuration of DBSnapper; it is not changed', required: true }],
  options: [{ flags: '--force', description: 'overwrite an existing file' }],
  examples: [
    {
      command: 'tool config import ~/.config/dbsnapper/dbsnapper.yml',
      does: 'rename the keys, and list the omitted ones',
    },
  ],
  json: 'document',
} as const satisfies CommandSpec;

export const configImportCommand: CommandModule = { ...specification, run };

async function run({
  arguments: { file },
  options,
  globals,
  environment,
  cwd,
}: InvocationOf<typeof specification>): Promise<Outcome> {
  const { importedConfigurationText } = await import('../../presentation/configuration.ts');
  const { importConfiguration } = await import('../../operations/configuration/import.ts');
  const { force = false } = options;
  const report = await importConfiguration({ from: file, file: globals.config, force, environment, cwd });
  const isValid = report.problems.every(({ severity }) => severity !== 'error');
  return { data: report, text: importedConfigurationText(report), exit: isValid ? EXIT.done : EXIT.configuration };
}

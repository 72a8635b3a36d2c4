import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { EXIT } from '../../runtime/errors.ts';

const specification = {
  name: 'config import',
  summary: 'convert a configuration of DBSnapper',
  group: 'Set up',
  arguments: [{ name: 'file', description: 'configuration of DBSnapper, which is not changed', required: true }],
  options: [{ flags: '--force', description: 'overwrite an existing file' }],
  examples: [
    {
      command: 'tool config import ~/.config/dbsnapper/dbsnapper.yml',
      does: 'convert it, and list omitted keys',
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

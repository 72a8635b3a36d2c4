import { changeText } from '../../config/edit/change-text.ts';
import { rewriteFile } from '../../config/edit/edit-file.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';

/** Writes into the configuration file that builds of a target include all schemas. */
export async function includeAllSchemas(
  { configuration, environment }: Context,
  { target }: { target: string },
): Promise<{ file: string }> {
  const { file } = configuration;
  if (file === null) {
    throw new UserError('no_configuration', 'There is no configuration file to set schema_config in', {
      hint: 'The configuration is in variables of the environment: change those.',
    });
  }
  const path = ['targets', target, 'snapshot', 'schema_config', 'use_default_schema'];
  await rewriteFile({ file, environment, rewrite: (text) => changeText(text, { kind: 'set', path, value: false }) });
  return { file };
}

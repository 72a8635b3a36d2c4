import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { containsPath } from '../runtime/contains-path.ts';
import type { Context } from '../runtime/context.ts';
import { UserError } from '../runtime/errors.ts';
import { LARGEST_SQL } from './arguments.ts';

/**
 * The SQL of an agent, or of a file of the project. Reports quote statements, so that another file of the machine would
 * be read by them: links out of the folder, and to files with another extension, are refused.
 */
export async function readRehearsedSql(
  { configuration }: Context,
  { sql, file }: { sql?: string | undefined; file?: string | undefined },
): Promise<{ name: string; text: string }> {
  if ((sql === undefined) === (file === undefined)) {
    throw new UserError('invalid_value', 'rehearse requires either sql or file', { hint: 'Pass one of them.' });
  }
  if (file === undefined) return { name: 'sql', text: sql ?? '' };
  if (configuration.file === null) throw refused(file, 'there is no configuration file');
  return { name: file, text: await readProjectFile(dirname(configuration.file), file) };
}

async function readProjectFile(folder: string, file: string): Promise<string> {
  const root = await realpath(folder);
  const path = await realpath(join(root, file)).catch(() => {
    throw refused(file, 'it does not exist');
  });
  if (!containsPath(root, path) || extname(path).toLowerCase() !== '.sql')
    throw refused(file, 'it leads to another place');
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using opened = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => {
    throw refused(file, 'it cannot be read');
  });
  const stat = await opened.stat();
  if (!stat.isFile()) throw refused(file, 'it is not a file');
  if (stat.size > LARGEST_SQL) throw refused(file, `it is larger than ${LARGEST_SQL} bytes`);
  const buffer = Buffer.alloc(stat.size);
  const { bytesRead } = await opened.read(buffer, 0, buffer.length, 0);
  return buffer.toString('utf8', 0, bytesRead);
}

function refused(file: string, why: string): UserError {
  return new UserError('invalid_value', `The file ${file} is not rehearsed: ${why}`, {
    hint: 'Use a .sql file in the folder of the configuration, or pass the statements as sql.',
  });
}

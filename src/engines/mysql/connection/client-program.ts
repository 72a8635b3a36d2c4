import type { ClientProgram, DatabaseUrl, EngineContext } from '../../engine.ts';
import { clientFor } from '../tools.ts';
import { connectionOf } from './client-options.ts';

/** mysql or mariadb for a person; the password is in an option file. */
export async function clientProgram(
  context: EngineContext,
  { url, directory }: { url: DatabaseUrl; directory: string },
): Promise<ClientProgram> {
  const { path: file, flavour } = await clientFor(context, 'mysql');
  const { args, env } = await connectionOf(url, { flavour, directory });
  return { file, args: [...args, `--database=${url.database ?? ''}`], env };
}

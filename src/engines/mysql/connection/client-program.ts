import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ClientProgram } from '../../facets/connect.ts';
import { connectionOf } from './client-options.ts';
import { anyClient } from './tools.ts';

/** mysql or mariadb for a person; the password is in an option file. */
export async function clientProgram(
  context: EngineContext,
  { url, directory }: { url: DatabaseUrl; directory: string },
): Promise<ClientProgram> {
  const { path: file, flavour } = await anyClient(context);
  const { args, env } = await connectionOf(url, { flavour, directory });
  return { file, args: [...args, `--database=${url.database ?? ''}`], env };
}

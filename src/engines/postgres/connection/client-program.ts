import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ClientProgram } from '../../facets/connect.ts';
import { anyClientTools } from './tools.ts';
import { connectionEnvironment } from './url.ts';

/** psql for a person: with the messages and the encoding of the terminal. */
export async function clientProgram(context: EngineContext, { url }: { url: DatabaseUrl }): Promise<ClientProgram> {
  const { psql: file } = await anyClientTools(context);
  const { args } = connectionEnvironment(url);
  return { file, args, env: url.password === null ? {} : { PGPASSWORD: url.password } };
}

import { join } from 'node:path';
import { type AnyServer, type ServerKind, startAnyServer } from './databases/any-server.ts';
import { temporaryFolder } from './postgres/postgres-server.ts';
import { type Tool, toolIn } from './terminal/tool-process.ts';

export interface LoadedWithBase extends AsyncDisposable {
  server: AnyServer;
  tool: Tool;
  /** The content of `copy` after its load. */
  pristine: string;
}

/** Starts a server with a filled `source`, loaded into `copy` with a base copy as target `app`. */
export async function loadedWithBase(kind: ServerKind, fill: string[]): Promise<LoadedWithBase> {
  await using opened = new AsyncDisposableStack();
  const [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
  opened.use(folder);
  opened.defer(() => server.stop());
  const [src_url, dst_url] = [server.url('source'), server.url('copy')];
  const tool = await toolIn(folder.path, {
    working_directory: join(folder.path, 'work'),
    targets: { app: { snapshot: { src_url, dst_url } } },
  });
  await server.create('source');
  await server.run('source', fill);
  await tool.done(['build', 'app']);
  await tool.done(['load', 'app', '--keep-base']);
  const pristine = await server.content('copy');
  const owned = opened.move();
  return { server, tool, pristine, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

import { join } from 'node:path';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ImagePrograms } from '../../facets/image.ts';
import { majorOf } from '../connection/tools.ts';
import { serverFolders, serverMissing } from '../server/server-programs.ts';
import { PRODUCT } from './run-server.ts';

/** Finds programs of the major version of a snapshot, else the oldest newer ones, which load it as another server does. */
export async function findPrograms(context: EngineContext, manifest: Manifest): Promise<ImagePrograms> {
  const wanted = majorOf(manifest.server_version);
  const found: ImagePrograms[] = [];
  for await (const bin of serverFolders(context)) {
    const programs = await readVersion(context, bin);
    if (programs) found.push({ ...programs, differs: majorOf(programs.version) !== wanted });
  }
  const [best] = found
    .filter(({ version }) => majorOf(version) >= wanted)
    .sort((a, b) => majorOf(a.version) - majorOf(b.version));
  if (best) return best;
  const others = found.length === 0 ? '' : `, but of ${found.map(({ version }) => version).join(', ')}`;
  throw serverMissing(`No server programs of PostgreSQL ${wanted}, as of the snapshot, or newer were found${others}`);
}

/** `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` */
async function readVersion({ runner, signal }: EngineContext, bin: string) {
  const { stdout } = await runner.run({ file: join(bin, 'postgres'), args: ['--version'] }, { signal });
  const [, build, version] = /^postgres \(PostgreSQL\) ((\d+(?:\.\d+)?)[^\n]{0,200})/.exec(stdout) ?? [];
  return build === undefined || version === undefined ? null : { product: PRODUCT, bin, version, build };
}

import type { Manifest } from '../../../repository/manifest/manifest.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ImagePrograms } from '../../facets/image.ts';
import { type Flavour, LABELS } from '../catalog/introspect.ts';
import { compareSeries } from '../connection/tools.ts';
import { detailsOf } from '../details.ts';
import { findAllServerPrograms, type ServerPrograms } from '../server/server-programs.ts';

/** Older ones keep accounts in other tables. */
const OLDEST: Record<Flavour, string> = { mysql: '8.0', mariadb: '10.4' };

/** Finds programs of the flavour and version of a snapshot, else the oldest newer ones; never those of the other flavour. */
export async function findPrograms(context: EngineContext, manifest: Manifest): Promise<ImagePrograms> {
  const { flavour } = detailsOf(manifest);
  const wanted = manifest.server_version;
  const oldest = compareSeries(wanted, OLDEST[flavour]) < 0 ? OLDEST[flavour] : wanted;
  const found = await findAllServerPrograms(context);
  const [best] = found
    .filter((one) => one.flavour === flavour && compareSeries(one.version, oldest) >= 0)
    .sort((a, b) => compareSeries(a.version, b.version));
  if (!best) throw noPrograms(`${LABELS[flavour]} ${series(oldest)}`, found);
  const { server: bin, version, build } = best;
  return { product: LABELS[flavour], bin, version, build, differs: compareSeries(version, wanted) !== 0 };
}

/** Returns the programs with all that the first files of a server need. */
export async function programsAt(context: EngineContext, { bin }: ImagePrograms): Promise<ServerPrograms> {
  const found = (await findAllServerPrograms(context)).find(({ server }) => server === bin);
  if (!found) throw noPrograms(bin, []);
  return found;
}

function noPrograms(wanted: string, found: ServerPrograms[]): UserError {
  const list = found.map(({ flavour, version }) => `${LABELS[flavour]} ${version}`).join(', ');
  const others = list === '' ? '' : `, but of ${list}`;
  return new UserError(
    'server_missing',
    `No server programs of ${wanted}, as of the snapshot, or newer were found${others}`,
    {
      hint: 'Install them: apt-get install mariadb-server (Debian, Ubuntu), brew install mariadb or mysql (macOS), or https://dev.mysql.com/downloads/.',
    },
  );
}

function series(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

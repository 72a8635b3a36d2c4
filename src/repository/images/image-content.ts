import type { EngineId } from '../../engines/list.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { ImageParts } from './cut-image.ts';
import type { ImageFacts, ImageManifest } from './image-manifest.ts';

/** All that a cleanly stopped server cannot make anew, without replication and tablespaces. */
const POSTGRES_DATA =
  /^(((base\/\d+|global)\/)?PG_VERSION|global\/pg_control|(base\/\d+|global)\/(pg_filenode\.map|\d+(_(fsm|vm|init))?(\.\d+)?)|pg_(xact|multixact\/(members|offsets))\/[0-9A-F]+|pg_wal\/[0-9A-F]{24})$/;

const POSTGRES_FOLDERS =
  /^(global|base(\/\d+)?|pg_(commit_ts|dynshmem|logical(\/(mappings|snapshots))?|multixact(\/(members|offsets))?|notify|replslot|serial|snapshots|stat|stat_tmp|subtrans|tblspc|twophase|wal(\/(archive_status|summaries))?|xact))$/;

/** Files and folders of shared images. Images of the other engines stay on their machine. */
export const SHARED_PARTS = {
  postgres: { isData: (path) => POSTGRES_DATA.test(path), isFolder: (path) => POSTGRES_FOLDERS.test(path) },
} satisfies Partial<Record<EngineId, ImageParts>>;

/** Returns a path of the image that is no data; `null` where all are. */
export function foreignPath({ engine, folders, files }: ImageManifest): string | null {
  const parts: Partial<Record<EngineId, ImageParts>> = SHARED_PARTS;
  const { isData, isFolder } = parts[engine] ?? NO_PARTS;
  return folders.find((path) => !isFolder(path)) ?? files.find(({ path }) => !isData(path))?.path ?? null;
}

const NO_PARTS: ImageParts = { isData: () => false, isFolder: () => false };

export function isImageOf(
  image: Pick<ImageFacts, 'target' | 'snapshot' | 'created_at' | 'engine'>,
  { target, id, created_at, engine }: Pick<Manifest, 'target' | 'id' | 'created_at' | 'engine'>,
): boolean {
  return image.target === target && image.snapshot === id && image.created_at === created_at && image.engine === engine;
}

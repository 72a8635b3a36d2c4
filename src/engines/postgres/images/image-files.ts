import type { SharedImageRules } from '../../facets/image.ts';
import { majorOf } from '../connection/tools.ts';

/** Files that make a server do something: the program writes its own, or there are none. */
const NEVER_COPIED =
  /^(postgresql(\.auto)?\.conf|pg_hba\.conf|pg_ident\.conf|(recovery|standby)\.signal|postmaster\.(pid|opts)|current_logfiles|backup_(label|manifest)(\.old)?|tablespace_map(\.old)?|pg_tblspc\/.*|.*\.so)$/;

/** Reports whether a file of a data directory, by its relative path, is left out of an image and of its copies. */
export function isNeverCopied(path: string): boolean {
  return NEVER_COPIED.test(path);
}

/** All that a cleanly stopped server cannot make anew, without replication and tablespaces. */
const DATA =
  /^(((base\/\d+|global)\/)?PG_VERSION|global\/pg_control|(base\/\d+|global)\/(pg_filenode\.map|\d+(_(fsm|vm|init))?(\.\d+)?)|pg_(xact|multixact\/(members|offsets))\/[0-9A-F]+|pg_wal\/[0-9A-F]{24})$/;

const FOLDERS =
  /^(global|base(\/\d+)?|pg_(commit_ts|dynshmem|logical(\/(mappings|snapshots))?|multixact(\/(members|offsets))?|notify|replslot|serial|snapshots|stat|stat_tmp|subtrans|tblspc|twophase|wal(\/(archive_status|summaries))?|xact))$/;

export const sharing: SharedImageRules = {
  isData: (path) => DATA.test(path),
  isFolder: (path) => FOLDERS.test(path),
  majorOf: (version) => `${majorOf(version)}`,
};

/**
 * Returns the version of each provider of collations, `c 2.36, i 153.112`. Where one has changed, indexes of text are in
 * the wrong order.
 */
export const COLLATIONS = `SELECT coalesce(string_agg(provider || ' ' || version, ', ' ORDER BY provider), '') AS collations FROM (
  SELECT collprovider::text AS provider, pg_collation_actual_version(min(oid::bigint)::oid) AS version FROM pg_collation
  WHERE collprovider = 'i' OR collprovider = 'c' AND collcollate NOT LIKE 'C%' AND collcollate <> 'POSIX' GROUP BY collprovider) AS used`;

export const EXTENSIONS = "SELECT extname || ' ' || extversion AS extension FROM pg_extension ORDER BY 1";

export const AVAILABLE_EXTENSIONS =
  "SELECT coalesce(string_agg(name || ' ' || version, ', '), '') AS extensions FROM pg_available_extension_versions";

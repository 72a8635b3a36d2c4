import { SHARED_PARTS } from '../../../repository/images/image-content.ts';
import type { SharedImageRules } from '../../facets/image.ts';
import { majorOf } from '../connection/tools.ts';

/** Files that make a server do something: the program writes its own, or there are none. */
const NEVER_COPIED =
  /^(postgresql(\.auto)?\.conf|pg_hba\.conf|pg_ident\.conf|(recovery|standby)\.signal|postmaster\.(pid|opts)|current_logfiles|backup_(label|manifest)(\.old)?|tablespace_map(\.old)?|pg_tblspc\/.*|.*\.so)$/;

/** Reports whether a file of a data directory, by its relative path, is left out of an image and of its copies. */
export function isNeverCopied(path: string): boolean {
  return NEVER_COPIED.test(path);
}

export const sharing: SharedImageRules = {
  ...SHARED_PARTS.postgres,
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

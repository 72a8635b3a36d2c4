import type { Manifest } from '../../repository/manifest/manifest.ts';

/** Parts of the manifest of an original that its sanitized snapshot repeats. */
export function carriedOver({ note, tags, git, dump }: Manifest): Pick<Manifest, 'note' | 'tags' | 'git' | 'dump'> {
  return { note, ...(tags && { tags }), ...(git && { git }), ...(dump && { dump }) };
}

/** The same, as an item of the search for original values. People write it; no query changes it. */
export function carriedOverItem(original: Manifest): { name: string; text: string } {
  return { name: '-.snapshot.(note)', text: JSON.stringify(carriedOver(original)) };
}

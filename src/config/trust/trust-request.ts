import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import type { Effect } from '../../results/configuration/effects.ts';
import type { ConfigFile } from '../config-file.ts';
import { settingsSchema } from '../schema/settings.ts';
import { childShape, type Shape, shapeOf } from '../schema/shape.ts';
import { openValues } from '../secrets/open-values.ts';
import { createTree, isTree, type Tree } from '../tree.ts';
import { type CoveredFile, coveredFiles } from './covered-files.ts';
import { effectsOf } from './effects.ts';

export interface TrustRequest {
  /** Absolute path, links resolved. */
  file: string;
  effects: Effect[];
  /** SHA-256 in hexadecimal of the covered part of the file, and of the files that it names. */
  digest: string;
  /** Files that it names, and that the digest covers. */
  files: CoveredFile[];
  /** The effects of the last answer about this file; `null` without one. */
  answered: Effect[] | null;
}

/** Reads the file's text, the files that it names, and TOOL_SECRET_KEY, which may decrypt it. */
export async function trustRequestOf(
  { path, source }: Pick<ConfigFile, 'path' | 'source'>,
  environment: NodeJS.ProcessEnv,
): Promise<Omit<TrustRequest, 'answered'>> {
  const shape = shapeOf(settingsSchema);
  const covered = coveredPart(source.tree, shape);
  const secretKey = environment.TOOL_SECRET_KEY;
  const files = await coveredFiles(opened(covered, secretKey), { path, environment });
  const digest = createHash('sha256').update(JSON.stringify({ covered, files })).digest('hex');
  const effects = effectsOf(covered, { shape, secretKey, files });
  return { file: await realpath(path).catch(() => path), effects, digest, files };
}

/** With the decrypted names of files. */
function opened(covered: Tree, secretKey: string | undefined): Tree {
  const tree = structuredClone(covered);
  if (secretKey) tree.secret_key = secretKey;
  openValues(tree);
  return tree;
}

/**
 * The part of a configuration that an answer is about: everything as written, keys that the schema does not know
 * included, except harmless keys, values equal to their default and empty sections.
 */
function coveredPart(tree: Tree, shape: Shape): Tree {
  return (cover(tree, shape) as Tree | undefined) ?? createTree();
}

function cover(value: unknown, shape: Shape | null): unknown {
  if (shape?.traits.harmless || value === null || value === undefined) return undefined;
  if (Array.isArray(value)) {
    const of = shape?.kind === 'list' ? shape.of : null;
    return value.length === 0 ? undefined : value.map((item) => cover(item, of) ?? null);
  }
  if (!isTree(value)) return shape?.kind === 'value' && value === shape.default ? undefined : value;
  const covered = createTree();
  for (const key of Object.keys(value).sort()) {
    const inner = cover(value[key], childShape(shape, key));
    if (inner !== undefined) covered[key] = inner;
  }
  return Object.keys(covered).length === 0 ? undefined : covered;
}

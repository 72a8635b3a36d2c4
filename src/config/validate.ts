import { checkKeys } from './check-keys.ts';
import { checkValues } from './check-values.ts';
import type { Finding } from './finding.ts';
import { renderUrls } from './render-urls.ts';
import { checkRules } from './rules.ts';
import type { Settings } from './schema/settings.ts';
import type { Shape } from './schema/shape.ts';
import { isTree, type Tree } from './tree.ts';

export interface Validated {
  /** With the defaults; `null` when anything but a template is wrong. */
  settings: Settings | null;
  findings: Finding[];
  /** URLs that could not be filled in: an error only for who needs them. */
  deferred: Finding[];
}

/** Everything that is wrong with a configuration, all at once. Takes what is wrong out of the tree. */
export function validate(
  tree: Tree,
  { shape, environment }: { shape: Shape; environment: NodeJS.ProcessEnv },
): Validated {
  const profiles = isTree(tree.storage_profiles) ? Object.keys(tree.storage_profiles) : [];
  const misplaced = checkKeys(tree, shape);
  const deferred = renderUrls(tree, { shape, environment });
  const { draft, settings, findings: wrong } = checkValues(tree, shape);
  const findings = [...misplaced, ...wrong, ...checkRules(draft, { profiles })];
  const isValid = findings.every(({ severity }) => severity === 'warning');
  return { settings: isValid ? settings : null, findings, deferred };
}

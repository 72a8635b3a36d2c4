import type { Finding } from './finding.ts';
import type { Shape } from './schema/shape.ts';
import { fillTemplate, TemplateError } from './template.ts';
import type { KeyPath, Tree } from './tree.ts';
import { joinUrl } from './url-insertion.ts';
import { walkValues } from './walk-values.ts';

/** Fills in the templates of all URLs that take them. One that cannot be filled in is a finding, and taken out. */
export function renderUrls(
  tree: Tree,
  { shape, environment }: { shape: Shape; environment: NodeJS.ProcessEnv },
): Finding[] {
  const findings: Finding[] = [];
  walkValues(tree, shape, ({ path, shape: { traits }, value, replace }) => {
    if (!traits.template || typeof value !== 'string') return;
    try {
      replace(joinUrl(fillTemplate(value, environment)));
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      findings.push(failure(path, error));
      replace(undefined);
    }
  });
  return findings;
}

function failure(path: KeyPath, { message, hint }: TemplateError): Finding {
  return { path, code: 'template_failed', message: `template parsing failed for ${path.at(-1)}: ${message}`, hint };
}

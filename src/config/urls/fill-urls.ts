import type { KeyProblem } from '../problems/key-problem.ts';
import { childShape, type Shape } from '../schema/shape.ts';
import { dotted, isTree, type KeyPath, type Tree } from '../tree.ts';
import { fillTemplate, TemplateError, type Variables } from './template.ts';
import { joinUrl } from './url-insertion.ts';

/** Fills in the templates of all URLs. A URL that cannot be filled in is removed and reported. */
export function fillUrls(
  tree: Tree,
  { shape, variables }: { shape: Shape; variables: Variables },
): { problems: KeyProblem[]; blanks: Map<string, string> } {
  const problems: KeyProblem[] = [];
  const blanks = new Map<string, string>();

  function fill(parent: Tree, of: Shape | null, path: KeyPath): void {
    for (const [key, value] of Object.entries(parent)) {
      const child = childShape(of, key);
      const here = [...path, key];
      if (isTree(value)) fill(value, child, here);
      if (!child?.traits.template || typeof value !== 'string' || !value.includes('{{')) continue;
      try {
        parent[key] = joinUrl(fillTemplate(value, variables));
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        problems.push(failure(here, error));
        blanks.set(dotted(here), blankUrl(value));
        delete parent[key];
      }
    }
  }

  fill(tree, shape, []);
  return { problems, blanks };
}

function blankUrl(text: string): string {
  try {
    return joinUrl(fillTemplate(text, () => ''));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return '';
  }
}

function failure(path: KeyPath, { message, offset, hint }: TemplateError): KeyProblem {
  return {
    path,
    code: 'template_failed',
    message: `template parsing failed for ${path.at(-1)}: ${message}`,
    hint,
    offset,
  };
}

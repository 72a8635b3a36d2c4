import type { SubsetGraph } from '../results/subset-results.ts';
import { formatCount } from '../text/format.ts';

type Rule = SubsetGraph['tables'][number]['rule'];

const STYLES: Record<Rule, string> = {
  target: 'fill:#dbeafe,stroke:#1d4ed8,stroke-width:3px,color:#111827',
  child: 'fill:#ccfbf1,stroke:#0f766e,color:#111827',
  parent: 'fill:#ecfccb,stroke:#4d7c0f,color:#111827',
  copy: 'fill:#f3e8ff,stroke:#7e22ce,color:#111827',
  excluded: 'fill:#fef3c7,stroke:#b45309,color:#111827',
  empty: 'fill:#f9fafb,stroke:#9ca3af,color:#111827',
};

/** A flow chart. Chosen references are thick, excluded ones dotted, circular ones red. */
export function drawMermaid({ tables, references }: SubsetGraph): string {
  const ids = new Map(tables.map(({ table }, index) => [table, `t${index}`]));
  const drawn = references.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const circular = drawn.flatMap((reference, index) => (reference.circular ? [index] : []));
  return [
    'flowchart LR',
    ...tables.map(
      ({ table, rule, rows }) =>
        `  ${ids.get(table)}["${escaped(table)}<br/>${rule}, ${escaped(formatCount(rows))} rows"]:::${rule}_`,
    ),
    ...drawn.map(({ from, to, chosen, excluded }) => {
      const arrow = excluded ? '-.->' : chosen ? '==>' : '-->';
      return `  ${ids.get(from)} ${arrow} ${ids.get(to)}`;
    }),
    ...(circular.length > 0 ? [`  linkStyle ${circular.join(',')} stroke:#dc2626`] : []),
    ...Object.entries(STYLES).map(([rule, style]) => `  classDef ${rule}_ ${style}`),
    '',
  ].join('\n');
}

/** Everything but letters, digits and a few signs as a character code, which Mermaid draws and does not interpret. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '\ufffd')
    .replaceAll(/[^\p{L}\p{M}\p{N} ._\ufffd-]/gu, (character) => `#${character.codePointAt(0)};`);
}

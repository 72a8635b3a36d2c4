import type { ObservedStatement } from '../../facets/rehearse.ts';

const MOST_STATEMENTS = 2000;

export interface StatementList {
  add: (statement: ObservedStatement) => void;
  end: () => { statements: ObservedStatement[]; leftOut: number };
}

/** Keeps the longest statements, and those that failed. */
export function createStatementList(): StatementList {
  let kept: ObservedStatement[] = [];
  let leftOut = 0;
  const shrink = (): void => {
    const rank = ({ error, durationMs }: ObservedStatement): number => (error ? Number.POSITIVE_INFINITY : durationMs);
    kept = kept.sort((one, other) => rank(other) - rank(one)).slice(0, MOST_STATEMENTS);
  };
  return {
    add(statement) {
      kept.push(statement);
      if (kept.length < 2 * MOST_STATEMENTS) return;
      shrink();
      leftOut += MOST_STATEMENTS;
    },
    end() {
      leftOut += Math.max(0, kept.length - MOST_STATEMENTS);
      shrink();
      return { statements: kept.toSorted((one, other) => one.atMs - other.atMs), leftOut };
    },
  };
}

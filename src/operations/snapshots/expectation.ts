import { UserError } from '../../runtime/errors.ts';

export interface Expectation {
  operator: '=' | '!=' | '<' | '<=' | '>' | '>=';
  operand: string;
  text: string;
}

const OPERATORS = ['<=', '>=', '!=', '<', '>', '='] as const;

/** Parses a comparison such as `> 1000`; a value alone means equality. */
export function parseExpectation(given: string): Expectation {
  const text = given.trim();
  const operator = OPERATORS.find((one) => text.startsWith(one));
  const operand = text.slice(operator?.length ?? 0).trim();
  const comparesOrder = operator !== undefined && operator !== '=' && operator !== '!=';
  if (operand === '' || (comparesOrder && !isNumber(operand))) {
    throw new UserError('invalid_value', `--expect must be a comparison such as '> 1000', not '${given}'`);
  }
  return { operator: operator ?? '=', operand, text };
}

/** Numbers are compared as numbers; NULL meets no expectation. */
export function isMet(value: string | null, { operator, operand }: Expectation): boolean {
  if (value === null) return false;
  if (!isNumber(value) || !isNumber(operand)) {
    return operator === '=' ? value === operand : operator === '!=' && value !== operand;
  }
  const [left, right] = [Number(value), Number(operand)];
  switch (operator) {
    case '=':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    default:
      return left >= right;
  }
}

function isNumber(text: string): boolean {
  return /^[+-]?\d+(\.\d+)?$/.test(text);
}

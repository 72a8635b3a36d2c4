import { UserError } from '../../../runtime/errors.ts';

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
  const difference = subtractDecimals(value, operand);
  switch (operator) {
    case '=':
      return difference === 0n;
    case '!=':
      return difference !== 0n;
    case '<':
      return difference < 0n;
    case '<=':
      return difference <= 0n;
    case '>':
      return difference > 0n;
    default:
      return difference >= 0n;
  }
}

/** The difference in units of the last decimal place of either, exact for every number of digits. */
function subtractDecimals(minuend: string, subtrahend: string): bigint {
  const placesOf = (text: string): number => text.split('.')[1]?.length ?? 0;
  const places = Math.max(placesOf(minuend), placesOf(subtrahend));
  const inUnits = (text: string): bigint => BigInt(text.replace('.', '') + '0'.repeat(places - placesOf(text)));
  return inUnits(minuend) - inUnits(subtrahend);
}

function isNumber(text: string): boolean {
  return /^[+-]?\d+(\.\d+)?$/.test(text);
}

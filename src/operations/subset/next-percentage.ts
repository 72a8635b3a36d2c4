import { PERCENTAGES } from '../../subset/suggestion.ts';

/** The next larger or smaller share of a table's rows; `undefined` where there is none. */
export function nextPercentage(percent: number, direction: 1 | -1): number | undefined {
  return direction === 1 ? PERCENTAGES.find((one) => one > percent) : PERCENTAGES.findLast((one) => one < percent);
}

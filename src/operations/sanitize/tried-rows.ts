/** Rows of each column that a trial of replacements reads. */
export const TRIED_ROWS = 10;

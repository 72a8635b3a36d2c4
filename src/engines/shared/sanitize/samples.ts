/** Rows to sample of a table, and distinct values to keep of a column. */
export const SAMPLED_ROWS = 2000;
export const SAMPLES = 100;
export const SAMPLE_LENGTH = 300;

/** Rows of a table that are looked at, and different values of a column that are kept of them. */
export const SAMPLED_ROWS = 2000;
export const SAMPLES = 100;
/** Longer values are cut: what they are shows at their beginning. */
export const SAMPLE_LENGTH = 300;

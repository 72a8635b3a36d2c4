/** Why no reset is in place: what has changed is unknown without reading all rows. */
export const NOT_IN_PLACE = 'InnoDB shows no row versions to compare';

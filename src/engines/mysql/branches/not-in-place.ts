/** The reason for which a branch is not reset in place. */
export const NOT_IN_PLACE = 'a branch on this server is always replaced';

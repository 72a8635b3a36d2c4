/** Objects of the server itself have lower ones (FirstNormalObjectId of PostgreSQL). */
export const FIRST_OWN_OID = 16384;

/** Feeds the tests that hold our reader of HTTP/1.1 against Node's: framings of a body, and pieces that damage a message. */

/** The end of a head and the body behind it, for requests and responses alike; some are refused. */
export const framings: readonly string[] = [
  "Content-Length: 5\r\n\r\nhello",
  "content-length:5 \r\n\r\nhello",
  "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
  'Transfer-Encoding: Chunked\r\n\r\n2;a="b"\r\nhe\r\n3\r\nllo\r\n0\r\nx: y\r\n\r\n',
  "Content-Length: 0\r\n\r\n",
  "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
  "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
];

/** Put into a message at random. */
export const pieces: readonly string[] = [
  "\r\n",
  "\n",
  "\r",
  " ",
  "\t",
  "\0",
  ":",
  ";",
  ",",
  "0",
  "5",
  "a",
  "\x80",
  "chunked",
  "\x0b",
  "\r\n ",
  "\r\n\r\n",
];

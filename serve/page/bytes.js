// Bytes as they are sent: in base64, not too many for the server.
//
//   MOST_BYTES           of a file; base64 makes them a third more, and --body-bytes is 1 MiB
//   bare(url) → base64   of a data: address
//   inBase64(blob) → promise of its bytes

export const MOST_BYTES = 700_000;
export const bare = (url) => url.slice(url.indexOf(",") + 1);

export const inBase64 = (blob) =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(bare(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });

import assert from "node:assert/strict";
import { sniffAudio } from "#proxy/neutral/media/sniff-audio";

describe("sniffAudio()", () => {
  for (const { name, bytes, expected } of [
    { name: "FLAC", bytes: "fLaC\0\0\0\x22", expected: "flac" },
    { name: "MP3 with a tag", bytes: "ID3\x04\0\0\0\0\0\0", expected: "mp3" },
    { name: "a frame of MPEG 1, layer III", bytes: "\xff\xfb\x90\x64", expected: "mp3" },
    { name: "the same with a checksum", bytes: "\xff\xfa\x90\x64", expected: "mp3" },
    { name: "a frame of MPEG 2, layer III", bytes: "\xff\xf3\x40\xc4", expected: "mp3" },
    { name: "a frame of MPEG 2.5, layer III", bytes: "\xff\xe3\x18\xc4", expected: "mp3" },
    { name: "a frame of layer II", bytes: "\xff\xfd\x84\x04", expected: "mp3" },
    { name: "MP4", bytes: "\0\0\0\x18ftypmp42", expected: "mp4" },
    { name: "M4A", bytes: "\0\0\0\x1cftypM4A ", expected: "mp4" },
    { name: "a program stream of MPEG", bytes: "\0\0\x01\xba\x44\0", expected: "mpeg" },
    { name: "Ogg", bytes: "OggS\0\x02\0\0", expected: "ogg" },
    { name: "WAV", bytes: "RIFF$\0\0\0WAVEfmt ", expected: "wav" },
    { name: "WAV of more than 4 GB", bytes: "RF64\xff\xff\xff\xffWAVEds64", expected: "wav" },
    { name: "WebM", bytes: "\x1aE\xdf\xa3\x9fB\x86\x81", expected: "webm" },
    { name: "WebP", bytes: "RIFF$\0\0\0WEBPVP8 ", expected: undefined },
    { name: "what says WAVE and is no RIFF", bytes: "xxxx$\0\0\0WAVEfmt ", expected: undefined },
    { name: "AAC without a container", bytes: "\xff\xf1\x50\x80", expected: undefined },
    { name: "a frame of a reserved version", bytes: "\xff\xeb\x90\x64", expected: undefined },
    { name: "a frame of a bit rate that is none", bytes: "\xff\xfb\xf0\x64", expected: undefined },
    { name: "a frame of a sample rate that is none", bytes: "\xff\xfb\x9c\x64", expected: undefined },
    { name: "half of a frame's header", bytes: "\xff\xfb\x90", expected: undefined },
    { name: "a UTF-16 byte order mark", bytes: "\xff\xfeh\0e\0", expected: undefined },
    { name: "JPEG", bytes: "\xff\xd8\xff\xe0", expected: undefined },
    { name: "PNG", bytes: "\x89PNG\r\n\x1a\n", expected: undefined },
    { name: "text", bytes: "hello, world", expected: undefined },
    { name: "nothing", bytes: "", expected: undefined },
  ]) {
    it(`finds ${expected ?? "nothing"} in ${name}`, () => {
      assert.equal(sniffAudio(Buffer.from(bytes, "latin1")), expected);
    });
  }
});

// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Reads an mcap file as Foxglove does, with its packages from npm:
//   node foxglove.cjs FOLDER_OF_PACKAGES FILE.mcap FOLDER_OF_OUR_MESSAGES
// Prints JSON: the header, the number of messages in a pass over the whole file with all checksums, the messages of each
// topic with their log times, and how the schemas differ from those that Foxglove publishes for ROS 2 Jazzy, or from ours.
"use strict";
const { createRequire } = require("node:module");
const { existsSync, readFileSync } = require("node:fs");
const { open } = require("node:fs/promises");
const load = createRequire(process.argv[2] + "/");
const { McapIndexedReader, McapStreamReader } = load("@mcap/core");
const { parse } = load("@foxglove/rosmsg");
const { MessageReader } = load("@foxglove/rosmsg2-serialization");
const zstd = load("@foxglove/wasm-zstd");
const { ros2jazzy } = load("@foxglove/rosmsg-msgs-common");

const short = (name) => name.replace("/msg/", "/").replace("gjk_collision/", "");

// The definition of a message type that is published for all programs, or ours.
function official(name) {
  const path = process.argv[4] + "/" + name + ".msg";
  return ros2jazzy[name] ?? (existsSync(path) ? parse(readFileSync(path, "utf8"), { ros2: true, skipTypeFixup: true })[0] : undefined);
}

// The fields of a definition, without what is not set, and without default values, which readers do not need.
function fields({ definitions }) {
  return definitions.map((field) => {
    const set = Object.entries({ ...field, type: short(field.type) }).filter(([key, value]) =>
      value !== undefined && value !== false && key !== "valueText" && key !== "defaultValue");
    return JSON.stringify(Object.fromEntries(set.sort(([a], [b]) => (a < b ? -1 : 1))));
  });
}

function differences(definitions) {
  const found = [];
  for (const own of definitions) {
    const name = short(own.name), published = official(name);
    if (!published) { found.push(["unknown", name]); continue; }
    const [a, b] = [fields(own), fields(published)];
    if (JSON.stringify(a) !== JSON.stringify(b)) found.push(["differs", name, a, b]);
  }
  return found;
}

async function main() {
  const file = await open(process.argv[3]);
  const { size } = await file.stat();
  const readable = {
    size: async () => BigInt(size),
    read: async (offset, length) => {
      const buffer = Buffer.alloc(Number(length));
      await file.read(buffer, 0, Number(length), Number(offset));
      return buffer;
    },
  };
  await zstd.isLoaded;
  const decompressHandlers = { zstd: (data, length) => zstd.decompress(data, Number(length)) };
  const stream = new McapStreamReader({ validateCrcs: true, decompressHandlers });
  stream.append(readFileSync(process.argv[3]));
  let streamed = 0, isComplete = false;
  for (let record; (record = stream.nextRecord());) { streamed += record.type === "Message"; isComplete = record.type === "Footer"; }
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const readers = new Map(), schemas = {}, topics = {};
  for (const [id, schema] of reader.schemasById) {
    const text = new TextDecoder().decode(schema.data), definitions = parse(text, { ros2: true });
    definitions[0].name ??= schema.name;
    schemas[schema.name] = { encoding: schema.encoding, differences: differences(definitions) };
    readers.set(id, new MessageReader(definitions));
  }
  for await (const { channelId, logTime, data } of reader.readMessages()) {
    const { topic, schemaId } = reader.channelsById.get(channelId);
    (topics[topic] ??= []).push([String(logTime), readers.get(schemaId).readMessage(data)]);
  }
  await file.close();
  const plain = (_, value) => typeof value === "bigint" ? String(value)
    : ArrayBuffer.isView(value) ? Array.from(value)
    : typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
  process.stdout.write(JSON.stringify({ header: reader.header, streamed, isComplete, schemas, topics }, plain));
}

main().catch((error) => { console.error(error); process.exit(1); });

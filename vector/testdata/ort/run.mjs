// node run.mjs MODEL.onnx THREADS ROUNDS: for each line "LENGTH TIMES" on stdin,
// prints the least milliseconds that one of ROUNDS took to run TIMES texts.
import readline from 'node:readline'
import ort from 'onnxruntime-node'

const [model, threads, rounds] = process.argv.slice(2)
const session = await ort.InferenceSession.create(model, { intraOpNumThreads: Number(threads), interOpNumThreads: 1 })
const row = (n, of) => new ort.Tensor('int64', BigInt64Array.from({ length: n }, of), [1, n])

for await (const line of readline.createInterface({ input: process.stdin })) {
  const [n, times] = line.split(' ').map(Number)
  const input = { input_ids: row(n, (_, i) => BigInt(i % 50)), attention_mask: row(n, () => 1n), token_type_ids: row(n, () => 0n) }
  let best = Infinity
  for (let i = 0; i < Number(rounds); i++) {
    const start = performance.now()
    for (let k = 0; k < times; k++) await session.run(input)
    best = Math.min(best, performance.now() - start)
  }
  console.log(best)
}

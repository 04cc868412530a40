// node tokens.mjs TOKENIZER.json TEXTS.json: prints the tokens of every text.
import fs from 'node:fs'
import { Tokenizer } from '@huggingface/tokenizers'

const [description, texts] = process.argv.slice(2).map(file => JSON.parse(fs.readFileSync(file, 'utf8')))
const decoder = { type: 'WordPiece', prefix: '##', cleanup: true } // not used, but asked for
const tokenizer = new Tokenizer({ decoder, ...description, truncation: null }, {})
const all = texts.map(text => tokenizer.encode(text, { add_special_tokens: false }).ids)
process.stdout.write(JSON.stringify(all))

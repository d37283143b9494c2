// Hardwon's plugin for OpenCode: tells `hardwon hook opencode` what happens, and hands on what it answers. Made by `hardwon install
// opencode`, removed by `hardwon uninstall opencode`; changes here are lost. It never fails a turn: the one error that it throws on
// purpose is a refusal, once, with the lessons as its reason.
import { spawn } from "node:child_process"

const PROGRAM = "HARDWON"
const WAIT = 2000 // milliseconds; Hardwon's own deadline is shorter
const ROOM = 8000 // characters of what prompts brought to mind that stays before the model
const CHANGING = new Set(["bash", "edit", "multiedit", "write", "patch", "apply_patch"])

export const Hardwon = async ({ directory }) => {
  const sessions = new Map() // by id: { parent, directory, version, start, prompts, words }
  const told = new Map() // by call: what to add to its output
  const refused = new Set()
  const open = new Set()

  const ask = (payload) => {
    const answer = new Promise((resolve) => {
      let out = ""
      let timer
      const done = (text) => {
        clearTimeout(timer)
        try {
          resolve(JSON.parse(text) ?? {})
        } catch {
          resolve({})
        }
      }
      try {
        const child = spawn(PROGRAM, ["hook", "opencode"], { cwd: payload.directory, stdio: ["pipe", "pipe", "ignore"] })
        timer = setTimeout(() => (child.kill(), done("")), WAIT)
        child.on("error", () => done(""))
        child.on("close", (code) => done(code === 0 ? out : ""))
        child.stdin.on("error", () => {})
        child.stdout.on("data", (data) => (out += data))
        child.stdin.end(JSON.stringify(payload))
      } catch {
        done("")
      }
    })
    open.add(answer)
    return answer.finally(() => open.delete(answer))
  }

  const known = (id) => {
    if (!sessions.has(id)) sessions.set(id, { directory, start: "", prompts: [], words: "" })
    return sessions.get(id)
  }
  const tell = (event, id, more = {}) => {
    const { parent, directory, version, model } = known(id)
    return ask({ event, session: id, parent, directory, version, model, ...more })
  }
  const begin = (id, source) => {
    const session = known(id)
    session.prompts = []
    session.begun = tell("start", id, { source }).then((answer) => (session.start = answer.context ?? ""))
    return session.begun
  }

  const events = {
    "session.created": ({ info }) => {
      Object.assign(known(info.id), { parent: info.parentID, version: info.version, directory: info.directory ?? directory })
      return begin(info.id, "startup")
    },
    "session.compacted": ({ sessionID }) => begin(sessionID, "compact"),
    "session.idle": ({ sessionID }) => tell("stop", sessionID, { text: known(sessionID).words }),
    "session.deleted": ({ info }) => tell("end", info.id, { reason: "deleted" }).then(() => sessions.delete(info.id)),
    "message.part.updated": ({ part }) => {
      // A call that fails never comes to tool.execute.after.
      if (part.type !== "tool" || part.state.status !== "error" || !CHANGING.has(part.tool) || refused.delete(part.callID)) return
      told.delete(part.callID)
      return tell("after", part.sessionID, { tool: part.tool, call: part.callID, args: part.state.input, error: part.state.error })
    },
  }

  return {
    event: async ({ event }) => {
      try {
        await events[event.type]?.(event.properties)
      } catch {}
    },
    "chat.message": async (input, output) => {
      const session = known(input.sessionID)
      session.model = input.model?.modelID
      // A session of an earlier process: what it was told stood in the system part of its calls, which is kept nowhere.
      if (!session.begun) begin(input.sessionID, "clear")
      const spoken = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const text = spoken.map((part) => part.text).join("\n")
      const asked = tell("prompt", input.sessionID, { text, message: output.message?.id })
      const { context } = await asked
      await session.begun
      if (context) session.prompts.push(context)
      while (session.prompts.join("").length > ROOM) session.prompts.shift()
    },
    "experimental.chat.system.transform": async (input, output) => {
      const session = sessions.get(input.sessionID)
      if (!session || /title generator/i.test(output.system[0] ?? "")) return
      await session.begun
      for (const context of [session.start, ...session.prompts]) if (context) output.system.push(context)
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      if (!CHANGING.has(tool)) return
      const answer = await tell("before", sessionID, { tool, call: callID, args })
      if (answer.context) told.set(callID, answer.context)
      if (answer.refuse) {
        refused.add(callID)
        throw new Error(answer.refuse)
      }
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      if (!CHANGING.has(tool)) return
      const { output: text, metadata, title } = output
      const answer = await tell("after", sessionID, { tool, call: callID, args, output: text, metadata, title })
      const context = [told.get(callID), answer.context].filter(Boolean).join("\n\n")
      told.delete(callID)
      if (context && typeof output.output === "string") output.output += "\n\n" + context
    },
    "experimental.text.complete": async ({ sessionID, messageID }, { text }) => {
      known(sessionID).words = text
      tell("said", sessionID, { text, message: messageID })
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      await tell("compact", sessionID)
    },
    dispose: async () => {
      for (const [id, session] of sessions) if (!session.parent) tell("end", id, { reason: "exit" })
      await Promise.allSettled([...open])
    },
  }
}

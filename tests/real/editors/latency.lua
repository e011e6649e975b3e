-- How long Neovim waits for diagnostics after a keystroke, as its client sees it: from the change of the
-- text to the arrival of the diagnostics that it causes. Environment variables: GRAMC, GRAM_FOLDER
-- with tools.gram, and KEYSTROKES. Prints milliseconds as JSON.

local env = vim.env
local LIMIT = 60000

local function main()
  vim.cmd("edit " .. env.GRAM_FOLDER .. "/tools.gram")
  local buffer = vim.api.nvim_get_current_buf()
  local arrived
  -- Newer versions ask for diagnostics, older ones are told.
  local handlers = {}
  for _, method in ipairs({ "textDocument/publishDiagnostics", "textDocument/diagnostic" }) do
    local handle = vim.lsp.handlers[method]
    handlers[method] = function(...)
      arrived = vim.loop.hrtime()
      return handle and handle(...)
    end
  end
  local client = vim.lsp.start_client({
    name = "gramc",
    cmd = { env.GRAMC, "lsp" },
    root_dir = env.GRAM_FOLDER,
    -- Neovim waits for more keystrokes by itself, which is not what is measured.
    flags = { debounce_text_changes = 0 },
    handlers = handlers,
  })
  vim.lsp.buf_attach_client(buffer, client)
  assert(vim.wait(LIMIT, function() return arrived ~= nil end, 1), "no diagnostics")

  local count = tonumber(env.KEYSTROKES)
  local lines = vim.api.nvim_buf_line_count(buffer)
  local times = {}
  for stroke = 1, count do
    -- Types and deletes a letter in the name of a type, which makes it unknown.
    local line = math.floor(lines * ((stroke % 7) + 1) / 9)
    local at
    while not at do
      line = line + 1
      local text = vim.api.nvim_buf_get_lines(buffer, line, line + 1, false)[1] or ""
      local found = text:find("::Text", 1, true)
      at = found and found + 5
    end
    for _, letters in ipairs({ { "x", 0 }, { "", 1 } }) do
      arrived = nil
      local begun = vim.loop.hrtime()
      vim.api.nvim_buf_set_text(buffer, line, at, line, at + letters[2], { letters[1] })
      assert(vim.wait(LIMIT, function() return arrived ~= nil end, 1), "no diagnostics")
      table.insert(times, (arrived - begun) / 1e6)
    end
  end
  table.sort(times)
  local function share(part) return times[math.max(1, math.ceil(#times * part))] end
  print(vim.json.encode({ lines = lines, median = share(0.5), p95 = share(0.95), most = times[#times] }))
end

local ok, problem = pcall(main)
if not ok then print("FAILED " .. tostring(problem)) end
vim.cmd("qall!")

;;; gram.el --- LLM tool definitions in gram  -*- lexical-binding: t; -*-

;; Add the directory of this file to `load-path' and (require 'gram) to the init file.  The
;; language server needs `gramc' on the PATH, and Emacs 29 or the package eglot.

;;; Code:

(defvar gram-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?' "\"" table)
    (modify-syntax-entry ?` "\"" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?< "." table)
    (modify-syntax-entry ?> "." table)
    table)
  "The syntax of comments, strings and names.")

(defvar gram-font-lock-keywords
  `((,(concat "\\[\\s-*\\([A-Za-z_][0-9A-Za-z_.@-]*\\)\\s-*::?\\s-*"
              (regexp-opt '("Tool" "Record" "Enum" "Union" "Alias" "Container" "Agent" "Library"
                            "Experiment")
                          'words))
     (1 font-lock-function-name-face) (2 font-lock-keyword-face))
    ("(\\s-*\\([A-Za-z_][0-9A-Za-z_.@-]*\\)" 1 font-lock-variable-name-face)
    ("::\\s-*\\([A-Za-z_][0-9A-Za-z_]*\\)" 1 font-lock-type-face)
    ("\\([A-Za-z_][0-9A-Za-z_.@-]*\\)\\s-*:[^:]" 1 font-lock-variable-name-face)
    ("\\_<\\(true\\|false\\|null\\)\\_>" . font-lock-constant-face)
    ("@@?[A-Za-z_][0-9A-Za-z_.-]*" . font-lock-preprocessor-face))
  "Highlighting other than comments and strings.")

(defun gram-indent-line ()
  "Indent the line by two spaces for each open bracket."
  (interactive)
  (let ((depth (save-excursion
                 (back-to-indentation)
                 (let ((open (car (syntax-ppss))))
                   (if (looking-at "[])}]") (1- open) open)))))
    (if (save-excursion (skip-chars-backward " \t") (bolp))
        (indent-line-to (* 2 (max 0 depth)))
      (save-excursion (indent-line-to (* 2 (max 0 depth)))))))

;;;###autoload
(define-derived-mode gram-mode prog-mode "Gram"
  "Major mode for gram specifications of tools."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local indent-tabs-mode nil)
  (setq-local tab-width 2)
  (setq-local indent-line-function #'gram-indent-line)
  (setq-local font-lock-defaults '(gram-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.gram\\'" . gram-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(gram-mode . ("gramc" "lsp"))))

(defun gram-connect ()
  "Connect to the language server, if eglot is installed."
  (if (fboundp 'eglot-ensure)
      (eglot-ensure)
    (message "Gram: install the package eglot for diagnostics and completion")))

(add-hook 'gram-mode-hook #'gram-connect)

(provide 'gram)
;;; gram.el ends here

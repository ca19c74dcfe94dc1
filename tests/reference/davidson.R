# Davidson's model (ties in paired comparisons) by two programs, for tests/test_fit_references.py.
#
#   Rscript davidson.R > davidson.json
#
# 1. psychotools::btmodel(type = "loglin", undecided = TRUE): for a pair, log expected counts of (i, undecided, j) are
#    mu + log w_i, mu + log nu + (log w_i + log w_j) / 2, mu + log w_j.
# 2. stats::glm, Poisson, the same log-linear model in another parametrisation: per pair a nuisance level, +-1/2 per
#    item, and one parameter for ties.
# Both give log w_i up to a constant and log nu; strengths are reported with sum zero.

suppressMessages(library(psychotools))

tables <- list(
  dense = data.frame(
    first  = c("a", "a", "a", "a", "b", "b", "b", "c", "c", "d"),
    second = c("b", "c", "d", "e", "c", "d", "e", "d", "e", "e"),
    wins   = c(7, 5, 9, 11, 4, 6, 8, 8, 6, 3),
    losses = c(4, 6, 2, 1, 7, 3, 4, 2, 5, 4),
    ties   = c(3, 2, 1, 0, 4, 5, 2, 3, 6, 7)
  ),
  # a ring with one chord: each item meets two or three others, some pairs without a tie or with nothing else
  sparse = data.frame(
    first  = c("a", "b", "c", "d", "e", "f", "a"),
    second = c("b", "c", "d", "e", "f", "a", "d"),
    wins   = c(3, 0, 5, 2, 1, 4, 0),
    losses = c(1, 2, 0, 2, 6, 1, 0),
    ties   = c(0, 1, 2, 9, 0, 0, 4)
  )
)

centred <- function(x) x - mean(x)

by_psychotools <- function(table) {
  items <- sort(unique(c(table$first, table$second)))
  # paircomp's columns: 1:2, 1:3, 2:3, 1:4, ...
  all <- do.call(rbind, lapply(2:length(items), function(j) cbind(items[seq_len(j - 1)], items[j])))
  # one subject per vote, NA for the pairs the subject did not see; +1: first, -1: second, 0: undecided
  votes <- do.call(rbind, lapply(seq_len(nrow(table)), function(row) {
    pair <- sort(c(table$first[row], table$second[row]))
    column <- which(all[, 1] == pair[1] & all[, 2] == pair[2])
    sign <- if (table$first[row] == pair[1]) 1 else -1
    outcome <- rep(c(sign, -sign, 0), c(table$wins[row], table$losses[row], table$ties[row]))
    cells <- matrix(NA_integer_, length(outcome), nrow(all))
    cells[, column] <- as.integer(outcome)
    cells
  }))
  fit <- btmodel(paircomp(votes, labels = items), type = "loglin", undecided = TRUE, ref = 1)
  worth <- coef(fit, ref = 1, all = TRUE)
  list(strength = as.list(centred(worth[items])), log_nu = unname(worth["(undecided)"]))
}

by_glm <- function(table) {
  items <- sort(unique(c(table$first, table$second)))
  cells <- do.call(rbind, lapply(seq_len(nrow(table)), function(row) {
    half <- 0.5 * ((items == table$first[row]) - (items == table$second[row]))
    data.frame(pair = row, outcome = c("win", "loss", "tie"),
               count = c(table$wins[row], table$losses[row], table$ties[row]),
               rbind(half, -half, 0 * half))
  }))
  names(cells)[-(1:3)] <- items
  cells$tie <- as.numeric(cells$outcome == "tie")
  formula <- as.formula(paste("count ~ 0 + factor(pair) + tie +", paste(items[-1], collapse = " + ")))
  fit <- glm(formula, family = poisson, data = cells, control = glm.control(epsilon = 1e-14, maxit = 200))
  theta <- c(0, coef(fit)[items[-1]])
  names(theta) <- items
  list(strength = as.list(centred(theta)), log_nu = unname(coef(fit)["tie"]))
}

number <- function(x) trimws(formatC(x, digits = 15, format = "g"))
named <- function(x) paste0("{", paste0('"', names(x), '": ', vapply(x, number, ""), collapse = ", "), "}")
result <- function(r) paste0('{"strength": ', named(r$strength), ', "log_nu": ', number(r$log_nu), "}")
column <- function(x) {
  paste0("[", paste0(if (is.character(x)) paste0('"', x, '"') else x, collapse = ", "), "]")
}

cat("{\n")
cat(' "made_with": {"R": "', as.character(getRversion()), '", "psychotools": "',
    as.character(packageVersion("psychotools")), '", "command": "Rscript davidson.R > davidson.json"},\n', sep = "")
cat(' "tables": {\n')
for (name in names(tables)) {
  table <- tables[[name]]
  cat('  "', name, '": {\n', sep = "")
  cat('   "votes": {', paste0('"', names(table), '": ', vapply(table, column, ""), collapse = ", "), "},\n", sep = "")
  cat('   "psychotools": ', result(by_psychotools(table)), ",\n", sep = "")
  cat('   "glm": ', result(by_glm(table)), "\n", sep = "")
  cat("  }", if (name == tail(names(tables), 1)) "\n" else ",\n", sep = "")
}
cat(" }\n}\n")

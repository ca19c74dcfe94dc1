# Writes agree_psych.json: intraclass correlations, Cohen's kappa and Williams' test by R's psych on the published tables.
#
#     VOIRDIRE_SHARED=/path/to/tables Rscript agree_psych.R
#
# needs r-cran-psych and r-cran-jsonlite.
suppressMessages(library(psych))
data <- file.path(Sys.getenv("VOIRDIRE_SHARED"), "data")
wide <- function(part, value) {
  cells <- tapply(part[[value]], list(part$item, part$judge), identity)
  as.data.frame(cells[order(rownames(cells)), , drop = FALSE])
}
values <- list()

newsroom <- read.csv(file.path(data, "newsroom_scores.csv"))
for (criterion in sort(unique(newsroom$criterion))) {
  scores <- wide(newsroom[newsroom$criterion == criterion, ], "score")
  icc <- ICC(scores, lmer = FALSE)$results
  found <- list(icc_1_1 = icc["Single_raters_absolute", "ICC"], icc_2_1 = icc["Single_random_raters", "ICC"],
                icc_3_1 = icc["Single_fixed_raters", "ICC"], icc_1_k = icc["Average_raters_absolute", "ICC"],
                icc_2_k = icc["Average_random_raters", "ICC"], icc_3_k = icc["Average_fixed_raters", "ICC"])
  values[[paste("newsroom", criterion)]] <- found
  for (pair in list(c(1, 2), c(1, 3), c(2, 3))) {
    names <- paste(colnames(scores)[pair], collapse = " ")
    kappa <- cohen.kappa(as.matrix(scores[, pair]), levels = 1:5)
    values[[paste("newsroom", criterion, names)]] <-
      list(cohen_kappa = kappa$kappa, cohen_kappa_quadratic = kappa$weighted.kappa)
  }
}

topical <- read.csv(file.path(data, "topicalchat_scores.csv"))
topical$item <- paste(topical$context, topical$system)
for (criterion in sort(unique(topical$criterion))) {
  scores <- wide(topical[topical$criterion == criterion, ], "score")
  icc <- ICC(scores, lmer = FALSE)$results
  values[[paste("topicalchat", criterion)]] <-
    list(icc_1_1 = icc["Single_raters_absolute", "ICC"], icc_2_1 = icc["Single_random_raters", "ICC"],
         icc_3_1 = icc["Single_fixed_raters", "ICC"], icc_1_k = icc["Average_raters_absolute", "ICC"],
         icc_2_k = icc["Average_random_raters", "ICC"], icc_3_k = icc["Average_fixed_raters", "ICC"])
}

labels <- read.csv(file.path(data, "dices350_labels.csv"))
labels <- labels[labels$judge %in% c("rater-001", "rater-002", "rater-003"), ]
labels <- wide(labels, "label")
for (pair in list(c(1, 2), c(1, 3), c(2, 3))) {
  names <- paste(colnames(labels)[pair], collapse = " ")
  kappa <- cohen.kappa(as.matrix(labels[, pair]), levels = c("No", "Unsure", "Yes"))
  values[[paste("dices350", names)]] <-
    list(cohen_kappa = kappa$kappa, cohen_kappa_quadratic = kappa$weighted.kappa)
}

williams <- list()
for (case in list(c(0.6, 0.5, 0.4, 100), c(0.31, -0.2, 0.1, 25), c(0.9, 0.85, 0.95, 360))) {
  test <- r.test(n = case[4], r12 = case[1], r13 = case[2], r23 = case[3])
  williams[[length(williams) + 1]] <- list(r12 = case[1], r13 = case[2], r23 = case[3], n = case[4],
                                           t = unname(test$t), p = unname(test$p))
}

out <- list(made_by = "agree_psych.R",
            versions = list(R = as.character(getRversion()), psych = as.character(packageVersion("psych"))),
            values = values, williams = williams)
folder <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
writeLines(jsonlite::toJSON(out, auto_unbox = TRUE, digits = NA, pretty = 1), file.path(folder, "agree_psych.json"))

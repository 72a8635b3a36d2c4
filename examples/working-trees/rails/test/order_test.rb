ENV["RAILS_ENV"] ||= "test"
require_relative "../config/environment"
require "rails/test_help"

class OrderTest < ActiveSupport::TestCase
  test "is kept" do
    Order.create!(item: "tea")
    assert_equal "tea", Order.last.item
  end

  test "the database has the migrations of this tree" do
    context = ActiveRecord::Base.connection.migration_context
    assert_equal context.migrations.map(&:version), context.get_all_versions
  end

  test "the database is that of the tests" do
    assert_match(/-test\z/, ActiveRecord::Base.connection.current_database)
  end
end
